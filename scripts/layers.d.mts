/** Folders of src/, lowest first, and which others each may import. */
export const layers: Readonly<Record<string, readonly string[]>>;
