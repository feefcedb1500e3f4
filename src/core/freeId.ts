/** @param fallback used for a name without ASCII letters or digits */
export function makeUnusedId(name: string, takenIds: readonly string[], fallback: string): string {
  const slug =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 50) || fallback;
  let id = slug;
  for (let number = 2; takenIds.includes(id); number++) id = `${slug}-${number}`;
  return id;
}
