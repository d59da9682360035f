// Optional fields of plain data: a field that is set to undefined is not the same as one that is left out.

/** The fields that have a value. Those that are undefined are left out. */
export function given<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  const known: Partial<Fields> = {}
  for (const name of Object.keys(fields) as (keyof Fields)[]) if (fields[name] !== undefined) known[name] = fields[name]
  return known as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }
}
