import { runInHelper } from './helper';
import type { Workbench } from './workbench';

const themes = {
  dark: { id: 'Dark Modern', file: 'dark_modern' },
  light: { id: 'Light Modern', file: 'light_modern' },
  'high contrast': { id: 'Default High Contrast', file: 'hc_black' },
  'high contrast light': { id: 'Default High Contrast Light', file: 'hc_light' },
} as const;

export type Theme = keyof typeof themes;

/** Switches the color theme, and waits until it is applied. */
export async function setTheme(bench: Workbench, theme: Theme): Promise<void> {
  const { id, file } = themes[theme];
  await runInHelper(bench, { settings: { 'workbench.colorTheme': id } });
  await bench.page.locator(`.monaco-workbench[class*="-${file}-"]`).waitFor();
}
