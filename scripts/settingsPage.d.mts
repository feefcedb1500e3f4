/** The fields of package.json that are read. */
export interface Manifest {
  readonly contributes: {
    readonly configuration: readonly {
      readonly title: string;
      readonly order: number;
      readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    }[];
  };
}

/** Creates docs/guide/settings.md from package.json and the texts of package.nls.json. */
export function renderSettingsPage(manifest: Manifest, words: Readonly<Record<string, string>>): string;
