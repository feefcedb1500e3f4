import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { ProblemList } from './Problems';

it.each([
  ['must be at least 0', 'Must be at least 0'],
  ['there is no preset "a"; known presets: speed, cost', 'There is no preset "a"; known presets: speed, cost'],
  ['entry 2: is not a known field', 'Entry 2: is not a known field'],
  ['minTokens: must be a number', 'minTokens: must be a number'],
  ['passes › entry 2 › operations: must be a list', 'passes › entry 2 › operations: must be a list'],
  ['my model: The API key was not accepted.', 'my model: The API key was not accepted.'],
])('the problem “%s” is shown with a capital letter unless it begins with a name', (problem, shown) => {
  const text = renderToStaticMarkup(<ProblemList problems={[problem]} />).replace(/<[^>]*>/g, '');
  expect(text.replaceAll('&quot;', '"')).toBe(shown);
});
