// Optional fields of plain data: a field that is set to undefined is not the same as one that is left out.

/** Fields that may be undefined become optional; the others stay. */
type Given<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name]
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>
}

/** The fields that have a value. Those that are undefined are left out. */
export function given<Fields extends object>(fields: Fields): Given<Fields> {
  const known = {} as Partial<Fields> & Given<Fields>
  for (const name of Object.keys(fields) as (keyof Fields)[]) if (fields[name] !== undefined) known[name] = fields[name]
  return known
}
