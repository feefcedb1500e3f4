/** Copies a value as plain data, because VS Code's own objects can't be sent to a thread. */
export const copyAsPlainData = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
