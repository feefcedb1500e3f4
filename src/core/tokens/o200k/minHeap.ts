export class MinHeap {
  #keys: Float64Array;
  #size = 0;

  constructor(capacity: number) {
    this.#keys = new Float64Array(capacity);
  }

  get size(): number {
    return this.#size;
  }

  /** Requires a non-empty heap. */
  get top(): number {
    return this.#keys[0] as number;
  }

  /** Does not sort; call `arrange` before anything else. */
  appendUnordered(key: number): void {
    this.#keys[this.#size++] = key;
  }

  /** Sorts appended keys in linear time. */
  buildHeap(): void {
    for (let at = (this.#size >> 1) - 1; at >= 0; at--) this.#sinkKey(at, this.#keys[at] as number);
  }

  push(key: number): void {
    const keys = this.#keys;
    let heapIndex = this.#size++;
    while (heapIndex > 0) {
      const parent = (heapIndex - 1) >> 1;
      const parentKey = keys[parent] as number;
      if (parentKey <= key) break;
      keys[heapIndex] = parentKey;
      heapIndex = parent;
    }
    keys[heapIndex] = key;
  }

  /** Requires a non-empty heap. */
  removeTop(): void {
    const last = this.#keys[--this.#size] as number;
    if (this.#size > 0) this.#sinkKey(0, last);
  }

  #sinkKey(startIndex: number, key: number): void {
    const keys = this.#keys;
    const size = this.#size;
    let heapIndex = startIndex;
    for (;;) {
      let child = 2 * heapIndex + 1;
      if (child >= size) break;
      let smallestChild = keys[child] as number;
      if (child + 1 < size && (keys[child + 1] as number) < smallestChild) smallestChild = keys[++child] as number;
      if (smallestChild >= key) break;
      keys[heapIndex] = smallestChild;
      heapIndex = child;
    }
    keys[heapIndex] = key;
  }
}
