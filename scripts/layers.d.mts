/** Which other folders each folder of src/ may import, lowest first. */
export const layers: Readonly<Record<string, readonly string[]>>;

/**
 * Layers inside a folder, by its path: which other folders each of its folders may import, lowest
 * first.
 */
export const floors: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
