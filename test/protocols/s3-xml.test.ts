// The XML of S3: what is written reads back, and nothing in a reply can pass for what it is not.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { completeRequestXml, xmlEntries, xmlField, xmlRoot } from '../../src/protocols/s3-xml.ts'

describe('the request that completes', () => {
  it('has each part with its number and its ETag, escaped', () => {
    const text = completeRequestXml([
      { partNumber: 1, etag: '"d41d8cd98f00b204e9800998ecf8427e"' },
      { partNumber: 2, etag: `"a&b<c>'d'"` },
      { partNumber: 3, etag: 'a\u0001b' },
    ])

    expect(text).toBe(
      '<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
        '<Part><PartNumber>1</PartNumber><ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag></Part>' +
        '<Part><PartNumber>2</PartNumber><ETag>&quot;a&amp;b&lt;c&gt;&apos;d&apos;&quot;</ETag></Part>' +
        '<Part><PartNumber>3</PartNumber><ETag>a&#1;b</ETag></Part>' +
        '</CompleteMultipartUpload>',
    )
  })

  it('reads back whatever an ETag holds', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text.trim() === text)),
        (etags) => {
          const text = completeRequestXml(etags.map((etag, index) => ({ partNumber: index + 1, etag })))

          const parts = xmlEntries(xmlRoot(text, 'CompleteMultipartUpload')!, 'Part')

          expect(parts.map((part) => xmlField(part, 'ETag'))).toEqual(etags)
          expect(parts.map((part) => xmlField(part, 'PartNumber'))).toEqual(etags.map((_, index) => String(index + 1)))
        },
      ),
    )
  })
})

describe('the root', () => {
  it.each([
    ['plain', '<Error><Code>A</Code></Error>'],
    [
      'with a declaration and a namespace',
      '<?xml version="1.0" encoding="UTF-8"?>\n\n<Error xmlns="urn:a"><Code>A</Code></Error>\n',
    ],
    ['after the blanks that keep a line open', `  \n ${' '.repeat(70_000)}<Error><Code>A</Code></Error>`],
  ])('is found %s', (_name, text) => {
    expect(xmlRoot(text, 'Error')).toBe('<Code>A</Code>')
  })

  it.each([
    ['another name', '<Errors><Code>A</Code></Errors>'],
    ['a start of another name', '<Result><Code>A</Code></Error>'],
    ['no end', '<Error><Code>A</Code>'],
    ['something behind it', '<Error></Error><Error></Error>x'],
    ['a comment', '<Error><!-- <Code>A</Code> --></Error>'],
    ['a CDATA section', '<Error><![CDATA[<Code>A</Code>]]></Error>'],
    ['a DOCTYPE', '<!DOCTYPE Error [<!ENTITY a "b">]><Error></Error>'],
    ['a start that is its own end', '<Error></Erro'],
    ['nothing', ''],
  ])('is not found with %s', (_name, text) => {
    expect(xmlRoot(text, 'Error')).toBe(undefined)
  })
})

describe('a field', () => {
  it.each([
    ['a&amp;b&lt;c&gt;&quot;&apos;', `a&b<c>"'`],
    ['&#x22;&#34;&#128640;', '""🚀'],
    ['&amp;lt;', '&lt;'],
    ['&#x10ffff;', '\u{10ffff}'],
    ['&nbsp;&#x110000;', '&nbsp;&#x110000;'],
    ['  1  ', '1'],
    ['', ''],
  ])('%j reads as %j', (raw, expected) => {
    expect(xmlField(`<Key>${raw}</Key>`, 'Key')).toBe(expected)
  })

  it('cannot be forged by the text of another one', () => {
    expect(xmlField('<Key>&lt;UploadId&gt;evil&lt;/UploadId&gt;</Key><UploadId>good</UploadId>', 'UploadId')).toBe(
      'good',
    )
    expect(xmlField('<Key>__proto__</Key>', '__proto__')).toBe(undefined)
  })

  it('is undefined when it is missing, holds elements, or does not end', () => {
    expect(xmlField('<A>1</A>', 'B')).toBe(undefined)
    expect(xmlField('<A><B>1</B></A>', 'A')).toBe(undefined)
    expect(xmlField('<A>1', 'A')).toBe(undefined)
    expect(xmlField('12345</A>', 'A')).toBe(undefined)
  })

  it('is read from its own start to the end behind it', () => {
    expect(xmlField('</A><A>1</A>', 'A')).toBe('1')
  })
})

it('entries are the insides of each element of the name, and nothing of what stands between or does not end', () => {
  expect(xmlEntries('a<P></P>b<P>1</P><N>2</N><P>3', 'P')).toEqual(['', '1', ''])
})

it('comes to the end of a megabyte of anything: a quadratic reader would take minutes, and the test be given up', () => {
  const hostile = ['<Part>', '<Part><ETag>', '&#', '<Error ', '<?xml '].map((piece) =>
    piece.repeat(2 ** 20 / piece.length),
  )

  for (const text of hostile) {
    expect(xmlRoot(text, 'Error')).toBe(undefined)
    expect([...xmlEntries(text, 'Part')].filter((entry) => xmlField(entry, 'ETag') !== undefined)).toEqual([])
    expect(xmlField(text, 'ETag')).toBe(undefined)
  }
})
