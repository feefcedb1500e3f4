import { expect, it } from 'vitest';
import { findNearestName } from './nearestName';

const KNOWN = ['individualConfig', 'messageTokenThresholds', 'toolResults', 'baseUrl', 'id'];

it.each([
  ['individualconfig', 'individualConfig'],
  ['toolResult', 'toolResults'],
  ['messageTokenThreshold', 'messageTokenThresholds'],
  ['baseURL', 'baseUrl'],
  ['base_url', 'baseUrl'],
  ['tool-results', 'toolResults'],
])('suggests the setting that %s misspells', (name, suggestion) => {
  expect(findNearestName(name, KNOWN)).toBe(suggestion);
});

it.each(['apiKey', '', 'x'.repeat(100_000)])('suggests nothing for a name that resembles no setting', (name) => {
  expect(findNearestName(name, KNOWN)).toBeUndefined();
});
