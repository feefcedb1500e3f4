/** Caches a value per object, weakly. Only for immutable objects. */
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
