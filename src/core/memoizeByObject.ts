/** Computes a value once for each object; it is forgotten with the object. Objects that never change only. */
export function memoizeByObject<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    let found = known.get(key);
    if (!found) known.set(key, (found = { value: compute(key) }));
    return found.value;
  };
}
