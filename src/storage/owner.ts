/**
 * Identifies the process that owns something. A process ID is not enough: IDs are reused, and each
 * container has its own.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { getErrorCode } from '../core/errors';

export interface OwnerProcess {
  readonly pid: number;
  /**
   * When the process started, in clock ticks since boot (Linux, proc(5), field 22 of `stat`); `0`
   * if unknown.
   */
  readonly started: string;
  /**
   * Where the PID is valid: machine, boot and PID namespace, `<machine>-<boot>-<inode>`; `0` if
   * unknown.
   */
  readonly space: string;
  readonly host: string;
}

/** `unknown`: the process is on another host or in another container, where it can't be seen. */
export type ProcessLiveness = 'running' | 'gone' | 'unknown';

/**
 * Inode of Linux's initial PID namespace (`PROC_PID_INIT_INO` in the kernel's
 * `include/linux/proc_ns.h`).
 */
const INITIAL_PID_NAMESPACE = '4026531836';
const UNKNOWN_PID_NAMESPACE = '0';

let currentOwner: OwnerProcess | undefined;

export const getThisProcess = (): OwnerProcess =>
  (currentOwner ??= {
    pid: process.pid,
    started: readProcessStart(process.pid) ?? UNKNOWN_PID_NAMESPACE,
    space: readMachineBootAndPidNamespace(),
    host: getHostName(),
  });

export function getOwnerLiveness(owner: OwnerProcess, current: OwnerProcess = getThisProcess()): ProcessLiveness {
  if (owner.host !== current.host) return 'unknown';
  if (owner.space !== current.space) return isNamespaceBeforeRestart(owner.space, current.space) ? 'gone' : 'unknown';
  if (isProcessGone(owner.pid)) return 'gone';
  const currentStart = readProcessStart(owner.pid);
  const isAnotherProcess =
    currentStart !== undefined && owner.started !== UNKNOWN_PID_NAMESPACE && currentStart !== owner.started;
  return isAnotherProcess ? 'gone' : 'running';
}

/** True if the PIDs are from this host itself (not from a container) before it was rebooted. */
function isNamespaceBeforeRestart(space: string, currentSpace: string): boolean {
  const [machine, boot, inode] = space.split('-');
  const [machineHere, bootHere, inodeHere] = currentSpace.split('-');
  return (
    machine === machineHere &&
    boot !== bootHere &&
    inode === INITIAL_PID_NAMESPACE &&
    inodeHere === INITIAL_PID_NAMESPACE
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

export const formatOwner = ({ pid, started, space, host }: OwnerProcess): string =>
  `${pid}.${started}.${space}@${host}`;

export function parseOwner(word: string): OwnerProcess | undefined {
  const [, pid, started, space, host] = OWNER_PATTERN.exec(word) ?? [];
  if (pid === undefined || started === undefined || space === undefined || host === undefined) return undefined;
  return { pid: Number(pid), started, space, host };
}

const getHostName = (): string =>
  hostname()
    .replace(/[^\w.-]/g, '_')
    .slice(0, 64);

/**
 * Version 1.0 recorded only the process ID and the host. A process on the same host is assumed to
 * belong to this system.
 */
export const makeOwnerOfEarlierFormat = (pid: number, host: string): OwnerProcess => ({
  pid,
  started: UNKNOWN_PID_NAMESPACE,
  space: getThisProcess().space,
  host: host.replace(/[^\w.-]/g, '_').slice(0, 64),
});

function readMachineBootAndPidNamespace(): string {
  if (process.platform !== 'linux') return UNKNOWN_PID_NAMESPACE;
  const bootId = readTextIfReadable('/proc/sys/kernel/random/boot_id')?.slice(0, 8);
  const inode = /\d+/.exec(readLinkIfReadable('/proc/self/ns/pid') ?? '')?.[0];
  const machineId = readTextIfReadable('/etc/machine-id')?.slice(0, 8) ?? UNKNOWN_PID_NAMESPACE;
  return bootId === undefined || inode === undefined ? UNKNOWN_PID_NAMESPACE : `${machineId}-${bootId}-${inode}`;
}

/** Returns undefined outside Linux, or if /proc belongs to another PID namespace. */
function readProcessStart(pid: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const ownStart = readStartFromStatFile('/proc/self/stat');
  if (ownStart === undefined || readStartFromStatFile(`/proc/${process.pid}/stat`) !== ownStart) return undefined;
  return readStartFromStatFile(`/proc/${pid}/stat`);
}

/**
 * Counts fields after the last parenthesis, because the program's name may contain spaces and
 * parentheses.
 */
const readStartFromStatFile = (path: string): string | undefined => {
  const text = readTextIfReadable(path);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')[19];
};

function readTextIfReadable(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

function readLinkIfReadable(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
