/** Folders of src/, lowest first, and which others each may import. */
export const layers: Readonly<Record<string, readonly string[]>>;

/** The floors inside a folder, by its path: its folders, lowest first, and which others each may import. */
export const floors: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
