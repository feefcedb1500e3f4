/** A process ID does not identify an owner: IDs are reused, and each container has its own. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { getErrorCode } from '../core/errors';

export interface Owner {
  readonly pid: number;
  /** Start in clock ticks since boot (Linux, proc(5), field 22 of `stat`); `0` if unknown. */
  readonly started: string;
  /** Machine, boot and PID namespace, `<machine>-<boot>-<inode>`; `0` if unknown. */
  readonly space: string;
  readonly host: string;
}

/** Processes on another host or in another container are not visible, so they are `unknown`. */
export type Liveness = 'running' | 'gone' | 'unknown';

/**
 * Inode of Linux's initial PID namespace (`PROC_PID_INIT_INO` in the kernel's
 * `include/linux/proc_ns.h`).
 */
const INITIAL_PROCESS_SPACE = '4026531836';
const UNKNOWN_PROCESS_SPACE = '0';

let currentOwner: Owner | undefined;

export const getThisProcess = (): Owner =>
  (currentOwner ??= {
    pid: process.pid,
    started: readStart(process.pid) ?? UNKNOWN_PROCESS_SPACE,
    space: readProcessSpace(),
    host: getHost(),
  });

export function checkLiveness(owner: Owner, here: Owner = getThisProcess()): Liveness {
  if (owner.host !== here.host) return 'unknown';
  if (owner.space !== here.space) return isBeforeRestart(owner.space, here.space) ? 'gone' : 'unknown';
  if (isProcessGone(owner.pid)) return 'gone';
  const started = readStart(owner.pid);
  const isAnother = started !== undefined && owner.started !== UNKNOWN_PROCESS_SPACE && started !== owner.started;
  return isAnother ? 'gone' : 'running';
}

/** True if the same host, not a container, was rebooted since. */
function isBeforeRestart(space: string, here: string): boolean {
  const [machine, boot, inode] = space.split('-');
  const [machineHere, bootHere, inodeHere] = here.split('-');
  return (
    machine === machineHere &&
    boot !== bootHere &&
    inode === INITIAL_PROCESS_SPACE &&
    inodeHere === INITIAL_PROCESS_SPACE
  );
}

export function isProcessGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return getErrorCode(error) === 'ESRCH';
  }
}

const OWNER_PATTERN = /^(\d+)\.(\d+)\.([\w-]+)@([\w.-]+)$/;

export const formatOwner = ({ pid, started, space, host }: Owner): string => `${pid}.${started}.${space}@${host}`;

export function parseOwner(word: string): Owner | undefined {
  const [, pid, started, space, host] = OWNER_PATTERN.exec(word) ?? [];
  if (pid === undefined || started === undefined || space === undefined || host === undefined) return undefined;
  return { pid: Number(pid), started, space, host };
}

const getHost = (): string =>
  hostname()
    .replace(/[^\w.-]/g, '_')
    .slice(0, 64);

/** Version 1.0 recorded only ID and host, so a matching host counts as this system. */
export const makeEarlierOwner = (pid: number, host: string): Owner => ({
  pid,
  started: UNKNOWN_PROCESS_SPACE,
  space: getThisProcess().space,
  host: host.replace(/[^\w.-]/g, '_').slice(0, 64),
});

function readProcessSpace(): string {
  if (process.platform !== 'linux') return UNKNOWN_PROCESS_SPACE;
  const boot = readText('/proc/sys/kernel/random/boot_id')?.slice(0, 8);
  const inode = /\d+/.exec(readLink('/proc/self/ns/pid') ?? '')?.[0];
  const machine = readText('/etc/machine-id')?.slice(0, 8) ?? UNKNOWN_PROCESS_SPACE;
  return boot === undefined || inode === undefined ? UNKNOWN_PROCESS_SPACE : `${machine}-${boot}-${inode}`;
}

/** Undefined outside Linux, or if /proc is another namespace's. */
function readStart(pid: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const own = parseStart('/proc/self/stat');
  if (own === undefined || parseStart(`/proc/${process.pid}/stat`) !== own) return undefined;
  return parseStart(`/proc/${pid}/stat`);
}

/** The program's name before the start may contain spaces and parentheses. */
const parseStart = (path: string): string | undefined => {
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
