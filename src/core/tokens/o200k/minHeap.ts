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

  /** Does not order the keys; call `buildHeap` before anything else. */
  appendUnordered(key: number): void {
    this.#keys[this.#size++] = key;
  }

  /** Puts the appended keys into heap order, in linear time. */
  buildHeap(): void {
    for (let heapIndex = (this.#size >> 1) - 1; heapIndex >= 0; heapIndex--)
      this.#sinkKey(heapIndex, this.#keys[heapIndex] as number);
  }

  push(key: number): void {
    const keys = this.#keys;
    let heapIndex = this.#size++;
    while (heapIndex > 0) {
      const parentIndex = (heapIndex - 1) >> 1;
      const parentKey = keys[parentIndex] as number;
      if (parentKey <= key) break;
      keys[heapIndex] = parentKey;
      heapIndex = parentIndex;
    }
    keys[heapIndex] = key;
  }

  /** Requires a non-empty heap. */
  removeTop(): void {
    const lastKey = this.#keys[--this.#size] as number;
    if (this.#size > 0) this.#sinkKey(0, lastKey);
  }

  #sinkKey(startIndex: number, key: number): void {
    const keys = this.#keys;
    const size = this.#size;
    let heapIndex = startIndex;
    for (;;) {
      let childIndex = 2 * heapIndex + 1;
      if (childIndex >= size) break;
      let smallestChildKey = keys[childIndex] as number;
      if (childIndex + 1 < size && (keys[childIndex + 1] as number) < smallestChildKey)
        smallestChildKey = keys[++childIndex] as number;
      if (smallestChildKey >= key) break;
      keys[heapIndex] = smallestChildKey;
      heapIndex = childIndex;
    }
    keys[heapIndex] = key;
  }
}
