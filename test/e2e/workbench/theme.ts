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

export const isTheme = ({ page }: Workbench, theme: Theme): Promise<boolean> =>
  page.locator(`.monaco-workbench[class*="-${themes[theme].file}-"]`).isVisible();

/** Changes the colour theme as a user does, and waits until it shows. (VS Code 1.139 in the browser does not see a changed settings file before it has written to it once.) */
export async function setTheme(bench: Workbench, theme: Theme): Promise<void> {
  const { label, file } = themes[theme];
  const shown = bench.page.locator(`.monaco-workbench[class*="-${file}-"]`);
  await until(`the theme ${label}`, async () => {
    await runCommand(bench, 'Preferences: Color Theme');
    // A panel that takes the focus just then closes it, whatever was typed by then.
    await quickInput(bench, ({ items }) => items.length > 3, 'the list of themes', 10_000);
    await filter(bench, label, 10_000);
    await pick(bench, label, 10_000);
    await shown.waitFor({ timeout: 10_000 });
    return true;
  });
}
