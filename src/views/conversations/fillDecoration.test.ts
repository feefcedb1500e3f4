import { expect, it } from 'vitest';
import { Uri } from '../../../test/support/vscode';
import { FillDecorations, createFillUri } from './fillDecoration';

const decoration = (percent: number) => new FillDecorations().provideFileDecoration(createFillUri(percent));

it.each([
  [75, '75', 'list.warningForeground'],
  [94, '94', 'list.warningForeground'],
  [95, '95', 'list.errorForeground'],
  [99.7, '!!', 'list.errorForeground'],
  [180, '!!', 'list.errorForeground'],
])('a conversation whose window is %d percent full has the badge %s', (percent, badge, color) => {
  const shown = decoration(percent);
  expect(shown).toMatchObject({ badge, tooltip: `${Math.round(percent)}% of the context window` });
  expect(shown?.color).toMatchObject({ id: color });
});

it.each([0, 52.3, 74.4])('a conversation whose window is %d percent full has no badge', (percent) => {
  expect(decoration(percent)).toBeUndefined();
});

it('files that are no conversations get no fill badge', () => {
  expect(new FillDecorations().provideFileDecoration(Uri.file('/80') as never)).toBeUndefined();
});
