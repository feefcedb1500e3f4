/** What is read of package.json. */
export interface Manifest {
  readonly contributes: {
    readonly configuration: readonly {
      readonly title: string;
      readonly order: number;
      readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    }[];
  };
}

/** docs/guide/settings.md from package.json and the words of package.nls.json. */
export function settingsPage(manifest: Manifest, words: Readonly<Record<string, string>>): string;
