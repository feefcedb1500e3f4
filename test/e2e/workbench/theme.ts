import { filter, pick, quickInput, runCommand } from './quick-input';
import { until } from './wait';
import type { Workbench } from './workbench';

const themes = {
  dark: { label: 'Dark Modern', file: 'dark_modern' },
  light: { label: 'Light Modern', file: 'light_modern' },
  'high contrast': { label: 'Dark High Contrast', file: 'hc_black' },
  'high contrast light': { label: 'Light High Contrast', file: 'hc_light' },
} as const;

export type Theme = keyof typeof themes;

/** Changes the colour theme as a user does, and waits until it shows. (VS Code 1.139 in the browser does not see a changed settings file before it has written to it once.) */
export async function setTheme(bench: Workbench, theme: Theme): Promise<void> {
  const { label, file } = themes[theme];
  await until('the list of themes', async () => {
    await runCommand(bench, 'Preferences: Color Theme');
    // A panel that takes the focus just then closes it.
    return quickInput(bench, ({ items }) => items.length > 3, 'the list of themes', 10_000).catch(() => undefined);
  });
  await filter(bench, label);
  await pick(bench, label);
  await bench.page.locator(`.monaco-workbench[class*="-${file}-"]`).waitFor({ timeout: 20_000 });
}
