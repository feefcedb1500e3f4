/** docs/guide/settings.md from what package.json contributes and the words of package.nls.json. */
export function settingsPage(
  configuration: { readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>> },
  words: Readonly<Record<string, string>>,
): string;
