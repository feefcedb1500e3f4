/**
 * Which process a file belongs to, so that what a dead process left behind can be told from what a living one uses. A process id alone
 * does not say it: ids are given out again, and each container counts its own.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorCode } from '../core/errors';

export interface Owner {
  readonly pid: number;
  /** When the process started, in clock ticks since the system did (Linux, proc(5), field 22 of `stat`); `0`: not known. */
  readonly started: string;
  /** The machine, the start of its system and the namespace that the process id counts in: `<machine>-<boot>-<inode>`; `0`: not known. */
  readonly space: string;
  readonly host: string;
}

/** `unknown`: of another host, container or start of a container, whose processes can't be seen from here. */
export type Liveness = 'running' | 'gone' | 'unknown';

/** The inode of the namespace that a Linux system starts with (`PROC_PID_INIT_INO` in the kernel's `include/linux/proc_ns.h`). */
const FIRST_SPACE = '4026531836';
const NOT_KNOWN = '0';

let mine: Owner | undefined;

/** The process that runs this code. */
export const thisProcess = (): Owner =>
  (mine ??= {
    pid: process.pid,
    started: readStart(process.pid) ?? NOT_KNOWN,
    space: spaceHere(),
    host: hostHere(),
  });

/** Whether the owner of a file still runs. */
export function checkLiveness(owner: Owner, here: Owner = thisProcess()): Liveness {
  if (owner.host !== here.host) return 'unknown';
  if (owner.space !== here.space) return isBeforeRestart(owner.space, here.space) ? 'gone' : 'unknown';
  if (isGone(owner.pid)) return 'gone';
  const started = readStart(owner.pid);
  const isAnother = started !== undefined && owner.started !== NOT_KNOWN && started !== owner.started;
  return isAnother ? 'gone' : 'running';
}

/** The same host, not in a container, has been restarted since. */
function isBeforeRestart(space: string, here: string): boolean {
  const [machine, boot, inode] = space.split('-');
  const [machineHere, bootHere, inodeHere] = here.split('-');
  return machine === machineHere && boot !== bootHere && inode === FIRST_SPACE && inodeHere === FIRST_SPACE;
}

/** Whether no process here has this id. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errorCode(error) === 'ESRCH';
  }
}

const WORD = /^(\d+)\.(\d+)\.([\w-]+)@([\w.-]+)$/;

/** An owner as one word that fits into a file's name. */
export const ownerWord = ({ pid, started, space, host }: Owner): string => `${pid}.${started}.${space}@${host}`;

/** The owner in a word; undefined where it names none. */
export function ownerIn(word: string): Owner | undefined {
  const [, pid, started, space, host] = WORD.exec(word) ?? [];
  if (pid === undefined || started === undefined || space === undefined || host === undefined) return undefined;
  return { pid: Number(pid), started, space, host };
}

/** Short enough for a file's name. */
const hostHere = (): string =>
  hostname()
    .replace(/[^\w.-]/g, '_')
    .slice(0, 64);

/** An owner of whom version 1.0 wrote no more than this: it is taken for one of this system where the host is the same. */
export const earlierOwner = (pid: number, host: string): Owner => ({
  pid,
  started: NOT_KNOWN,
  space: thisProcess().space,
  host: host.replace(/[^\w.-]/g, '_').slice(0, 64),
});

function spaceHere(): string {
  if (process.platform !== 'linux') return NOT_KNOWN;
  const boot = readText('/proc/sys/kernel/random/boot_id')?.slice(0, 8);
  const inode = /\d+/.exec(readLink('/proc/self/ns/pid') ?? '')?.[0];
  const machine = readText('/etc/machine-id')?.slice(0, 8) ?? NOT_KNOWN;
  return boot === undefined || inode === undefined ? NOT_KNOWN : `${machine}-${boot}-${inode}`;
}

/** Undefined where it can't be told: elsewhere than on Linux, or where /proc shows the processes of another namespace. */
function readStart(pid: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const own = startIn('/proc/self/stat');
  if (own === undefined || startIn(`/proc/${process.pid}/stat`) !== own) return undefined;
  return startIn(`/proc/${pid}/stat`);
}

/** The name of the program, which stands before it, may hold spaces and brackets. */
const startIn = (path: string): string | undefined => {
  const text = readText(path);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')[19];
};

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
