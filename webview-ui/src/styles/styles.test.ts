import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const css = globSync('webview-ui/src/styles/*.css')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

/** VS Code's chart colors in Dark Modern and Light Modern (`chartsColors.ts`); the orange is translucent. */
const CHART_COLORS: Readonly<Record<string, readonly [dark: string, light: string]>> = {
  foreground: ['#CCCCCC', '#3B3B3B'],
  blue: ['#59A4F9', '#0063D3'],
  green: ['#89D185', '#388A34'],
  purple: ['#B180D7', '#652D90'],
  red: ['#F14C4C', '#E51400'],
  yellow: ['#CCA700', '#BF8803'],
};
const BACKGROUNDS = ['#1F1F1F', '#FFFFFF'] as const;

function computeLuminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((start) => Number.parseInt(color.slice(start, start + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function computeContrast(color: string, background: string): number {
  const [darker = 0, lighter = 0] = [color, background].map(computeLuminance).toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

it('every line of a chart has a contrast of 3:1 or more in the dark and the light theme', () => {
  const names = [...css.matchAll(/--line-color: var\(--vscode-charts-(\w+)/g)].map(([, name = '']) => name);
  expect(names).toHaveLength(6);
  const contrasts = names.flatMap((name) =>
    BACKGROUNDS.map((background, theme) => computeContrast(CHART_COLORS[name]?.[theme] ?? background, background)),
  );
  expect(Math.min(...contrasts)).toBeGreaterThanOrEqual(3);
});

it('no column that fits itself to the page is wider than a narrow page', () => {
  expect(css.match(/auto-fi[lt], minmax\((?!min\()[^)]*\)/g)).toBeNull();
});
