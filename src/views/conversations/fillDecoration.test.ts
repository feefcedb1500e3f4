import { expect, it } from 'vitest';
import { Uri } from '../../../test/support/vscode';
import { FillDecorations, createFillUri } from './fillDecoration';

const decoration = (percent: number) => new FillDecorations().provideFileDecoration(createFillUri(percent));

it.each([
  [75, 'list.warningForeground'],
  [94, 'list.warningForeground'],
  [95, 'list.errorForeground'],
  [180, 'list.errorForeground'],
])('a conversation whose window is %d percent full has the color %s', (percent, color) => {
  expect(decoration(percent)).toEqual({ color: { id: color }, tooltip: `${percent}% of the context window` });
});

it.each([0, 52.3, 74.4])('a conversation whose window is %d percent full has no color of its own', (percent) => {
  expect(decoration(percent)).toBeUndefined();
});

it('files that are no conversations get no color for their fill level', () => {
  expect(new FillDecorations().provideFileDecoration(Uri.file('/80') as never)).toBeUndefined();
});
