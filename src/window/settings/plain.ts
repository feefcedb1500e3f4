/** A copy of JSON: VS Code's own objects can't cross to a thread. */
export const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
