/**
 * An id made of a name that a person gave: its ASCII letters and digits with dashes between, and a number where it is
 * taken.
 * @param otherwise for a name without any of those.
 */
export function makeFreeId(name: string, taken: readonly string[], otherwise: string): string {
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
