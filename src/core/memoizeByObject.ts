/** Computes a value once for each object; it is forgotten with the object. Objects that never change only. */
export function memoizeByObject<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined || known.has(key)) return found as V;
    const value = compute(key);
    known.set(key, value);
    return value;
  };
}
