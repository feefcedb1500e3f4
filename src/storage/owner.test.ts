import { expect, it } from 'vitest';
import { getOwnerLiveness, parseOwner, formatOwner, getThisProcess, type OwnerProcess } from './owner';

/** This PID is above Linux's highest one (2^22). */
const UNUSED_PID = 2 ** 22 + 1;
const FIRST = '4026531836';
const here: OwnerProcess = { pid: 1, started: '5', space: `aaaa-bbbb-${FIRST}`, host: 'one' };

it('a lock owner survives being written as a file name', () => {
  expect(parseOwner(formatOwner(getThisProcess()))).toEqual(getThisProcess());
  expect(formatOwner(getThisProcess())).toMatch(/^[\w.@-]+$/);
  for (const word of ['', '12', '12@host', 'x.1.2@host', '1.2.3@a/b']) expect(parseOwner(word)).toBeUndefined();
});

it("as a lock's owner, the test's own process counts as running, and an unused process ID as gone", () => {
  expect(getOwnerLiveness(getThisProcess())).toBe('running');
  expect(getOwnerLiveness({ ...getThisProcess(), pid: UNUSED_PID })).toBe('gone');
});

it.runIf(process.platform === 'linux')(
  "a process with the process ID of a lock's former owner is not mistaken for the owner",
  () => {
    expect(getOwnerLiveness({ ...getThisProcess(), started: '1' })).toBe('gone');
    expect(getOwnerLiveness({ ...getThisProcess(), started: '0' })).toBe('running');
  },
);

it.each<[string, Partial<OwnerProcess>, 'gone' | 'unknown']>([
  ['of another host', { host: 'two' }, 'unknown'],
  ['of another container of this host', { space: 'aaaa-bbbb-4026532000' }, 'unknown'],
  ['of this host before it was restarted', { space: `aaaa-cccc-${FIRST}` }, 'gone'],
  ['of a container before the host was restarted', { space: 'aaaa-cccc-4026532000' }, 'unknown'],
  ['of another machine of the same name', { space: `dddd-cccc-${FIRST}` }, 'unknown'],
])("whether a lock's owner still runs is found out as far as possible for a process %s", (_, owner, liveness) => {
  expect(getOwnerLiveness({ ...here, ...owner, pid: UNUSED_PID }, here)).toBe(liveness);
});
