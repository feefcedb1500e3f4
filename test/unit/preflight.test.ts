import { describe, expect, it } from 'vitest';
import { listFindings, describeSkippedTests, describeMachine, type Machine } from '../../scripts/preflight.mjs';

const WELL: Machine = {
  platform: 'linux',
  arch: 'x64',
  isGlibc: true,
  node: '20.20.2',
  chromium: 'Chromium 150',
  missingCompilers: [],
  hasCodeServer: false,
  freeBytes: 10e9,
  temporaryBytes: 10e9,
};
const on = (machine: Partial<Machine>) => listFindings({ ...WELL, ...machine });

describe('the check before npm test', () => {
  it('prints nothing if everything is installed', () => {
    expect(on({})).toEqual([]);
    expect(on({ platform: 'darwin', arch: 'arm64', isGlibc: false, missingCompilers: ['g++'] })).toEqual([]);
  });

  it('requires a compiler only if VS Code’s terminal does not come prebuilt', () => {
    const missingCompilers = ['make', 'g++', 'python3'];
    expect(on({ missingCompilers })).toEqual([]);
    expect(on({ missingCompilers, isGlibc: false, hasCodeServer: true })).toEqual([]);
    for (const other of [{ isGlibc: false }, { arch: 'riscv64' }])
      expect(on({ missingCompilers, ...other })).toEqual([
        expect.objectContaining({ mend: expect.stringContaining('make g++ python3'), loses: 'VS Code' }),
      ]);
  });

  it.each<[string, Partial<Machine>, RegExp, RegExp]>([
    ['no browser', { chromium: undefined }, /no Chromium or Chrome/, /apt-get install -y chromium/],
    ['a browser that does not start', { chromium: undefined, chromiumProblem: 'x: no libnss3' }, /libnss3/, /chromium/],
    [
      'a path of none',
      { chromium: undefined, chromiumProblem: 'CHROMIUM_PATH names /x' },
      /\/x/,
      /^unset CHROMIUM_PATH/,
    ],
    ['a Mac without one', { platform: 'darwin', chromium: undefined }, /no Chromium/, /brew install/],
    ['no loopback', { loopbackProblem: 'EADDRNOTAVAIL' }, /127\.0\.0\.1 \(EADDRNOTAVAIL\)/, /ip link/],
    ['a full disk', { freeBytes: 1e9 }, /1\.0 GB free.* 1\.2 GB/, /free some/],
    ['no room for temporary files', { temporaryBytes: 1e8 }, /0\.1 GB free/, /TMPDIR/],
    ['Windows', { platform: 'win32', chromium: undefined }, /Windows/, /WSL/],
  ])('leaves out the tests in VS Code and says how to fix the cause: %s', (_name, machine, problem, mend) => {
    const found = on(machine);
    expect(found).toEqual([
      { problem: expect.stringMatching(problem), mend: expect.stringMatching(mend), loses: 'VS Code' },
    ]);
    expect(describeSkippedTests(found)).toMatch(/^SKIPPED: every test in a real VS Code, because\n {2}.+ To fix it: /);
  });

  it('rejects an old Node', () => {
    for (const node of ['18.20.0', '20.11.1']) expect(on({ node })).toMatchObject([{ loses: 'everything' }]);
    expect(on({ node: '24.0.0' })).toEqual([]);
  });

  it('reports a Node other than the machine’s own', () => {
    expect(describeMachine(WELL)).toMatch(/^Node 20\.20\.2 · Chromium 150 · code-server comes built/);
    expect(describeMachine({ ...WELL, node: '24.21.0', isOwnNode: true })).toMatch(
      /^Node 24\.21\.0, from the project’s packages · /,
    );
  });

  it('requires less disk space once code-server is installed', () => {
    expect(on({ freeBytes: 1e9, hasCodeServer: true })).toEqual([]);
  });
});
