import { expect, it } from 'vitest';
import { engines } from '../../package.json';
import { describeMissingNode } from './missingNode';

it.each(['22.13.0', '22.13.1', '22.20.0', '23.0.0', '24.21.0', '100.0.0'])(
  'Node %s is accepted by the command line',
  (version) => {
    expect(describeMissingNode(version, '>=22.13')).toBeUndefined();
  },
);

it.each(['4.9.1', '18.20.8', '20.20.2', '21.99.0', '22.0.0', '22.12.9'])(
  'Node %s is rejected by the command line, which names the required version',
  (version) => {
    expect(describeMissingNode(version, '>=22.13')).toBe(
      `context-condenser needs Node.js 22.13 or later, and this is Node.js ${version}.`,
    );
  },
);

it('package.json states the required Node version as “>=major.minor”, the form that the version check parses', () => {
  expect(engines.node).toMatch(/^>=\d+\.\d+$/);
});
