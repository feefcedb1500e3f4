/** Caches a value per object, weakly. Only for immutable objects. */
export function memoizeByObject<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const results = new WeakMap<K, V>();
  return (key) => {
    const cachedValue = results.get(key);
    if (cachedValue !== undefined || results.has(key)) return cachedValue as V;
    const value = compute(key);
    results.set(key, value);
    return value;
  };
}
