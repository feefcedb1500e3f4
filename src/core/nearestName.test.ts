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
])('the setting that %s misspells is suggested', (name, suggestion) => {
  expect(findNearestName(name, KNOWN)).toBe(suggestion);
});

it.each(['apiKey', '', 'x'.repeat(100_000)])('no setting is suggested for a name that resembles none', (name) => {
  expect(findNearestName(name, KNOWN)).toBeUndefined();
});
