/**
 * Joins ASCII letters and digits with dashes, and adds a number if the ID is taken.
 * @param otherwise used for a name without letters or digits
 */
export function makeUnusedId(name: string, taken: readonly string[], otherwise: string): string {
  const plain =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 50) || otherwise;
  let id = plain;
  for (let number = 2; taken.includes(id); number++) id = `${plain}-${number}`;
  return id;
}
