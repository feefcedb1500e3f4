import { expect, it } from 'vitest';
import { Uri } from '../../../test/support/vscode';
import { FillDecorations, createFillUri } from './fillDecoration';

const decoration = (percent: number) =>
  new FillDecorations().provideFileDecoration(createFillUri(percent, `${percent}%`));

it.each([
  [0.4, '0', undefined],
  [52.3, '52', undefined],
  [74.4, '74', undefined],
  [75, '75', 'list.warningForeground'],
  [94, '94', 'list.warningForeground'],
  [95, '95', 'list.errorForeground'],
  [99.7, '!!', 'list.errorForeground'],
  [180, '!!', 'list.errorForeground'],
])('a window filled to %d percent has the badge %s', (percent, badge, color) => {
  const shown = decoration(percent);
  expect(shown).toMatchObject({ badge, tooltip: `${percent}% of the context window` });
  expect(shown?.color).toEqual(color === undefined ? undefined : expect.objectContaining({ id: color }));
});

it('files that are no conversations get no fill badge', () => {
  expect(new FillDecorations().provideFileDecoration(Uri.file('/80') as never)).toBeUndefined();
});
