/** Folders of src/, and which others each may import. */
export const layers: Readonly<Record<string, readonly string[]>>;
/** Folders of src/ that know VS Code: they import each other and all layers. */
export const editorFolders: readonly string[];
