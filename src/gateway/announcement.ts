/**
 * A gateway tells the windows of its user that it runs: a file that only they can read, in a folder that they agreed on, with the
 * address of its live conversations. It goes with the gateway; of one that was killed it is cleared by whoever looks next.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { hashText } from '../core/hash';
import { nodeFiles } from '../storage/nodeFiles';
import { isGone, checkLiveness, ownerIn, ownerWord, thisProcess } from '../storage/owner';
import { OWN, removeOwn, replaceOwn, standingAt } from '../storage/ownFiles';
import { claimFolder } from '../storage/ownFolder';

const announcement = z.object({
  pid: z.number().int().positive(),
  /** The process, as `storage/owner.ts` writes it; absent in version 1.0. */
  owner: z.string().optional(),
  /** Of its live conversations, secret and all. */
  address: z.url({ protocol: /^http$/, hostname: /^127\.0\.0\.1$/ }),
  /** The agent behind it, as people know it; absent: any that was told its address. */
  agent: z.string().optional(),
  /** The folder that the agent works in. */
  folder: z.string(),
  /** The base addresses that agents may be given, by vendor; absent: it serves the agent that it was started for. */
  addresses: z.record(z.string(), z.url({ protocol: /^http$/, hostname: /^127\.0\.0\.1$/ })).optional(),
});

/** A gateway that runs. */
export type Announcement = Omit<z.infer<typeof announcement>, 'owner'>;

/** An address of a gateway as a screen shows it: the secret is for the clipboard. */
export const withoutSecret = (address: string): string => address.replace(/^(http:\/\/[^/]+\/)[^/]+/, '$1…');

/** Whether an address is of the form that gateways have: of the one that runs, or of one that ran before. */
export const isGatewayAddress = (address: string): boolean =>
  /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{20,}\/\w+$/.test(address);

/**
 * @param folder is made ours where it is new, empty or ours already
 * @returns takes it back.
 * @throws StorageError `not-ours` where the folder is somebody else's
 */
export async function announce(folder: string, gateway: Announcement): Promise<() => Promise<void>> {
  await claimFolder(nodeFiles, folder, 'Nothing was started.');
  const owner = ownerWord(thisProcess());
  // Processes of two containers may have one number; what an earlier process of this number left is replaced.
  const path = join(folder, `${gateway.pid}-${hashText(owner).slice(0, 8)}.json`);
  const { pid, ...rest } = gateway;
  await replaceOwn(nodeFiles, path, JSON.stringify({ contextCondenser: 'gateway', pid, owner, ...rest }), OWN.gateway);
  return () => removeOwn(nodeFiles, path, OWN.gateway);
}

/** The gateways that run and can be reached from here. Files of those that don't run are cleared. */
export async function announced(folder: string): Promise<Announcement[]> {
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names.filter((name) => /^\d+(?:-[0-9a-f]{8})?\.json$/.test(name)).map((name) => read(join(folder, name))),
  );
  return found.filter((one) => one !== undefined);
}

async function read(path: string): Promise<Announcement | undefined> {
  try {
    if ((await standingAt(nodeFiles, path, OWN.gateway)) !== 'ours') return undefined;
    const { owner: word = '', ...gateway } = announcement.parse(JSON.parse(await readFile(path, 'utf8')));
    const owner = ownerIn(word);
    // Of one of version 1.0 the number is all that is known.
    const liveness = owner ? checkLiveness(owner) : isGone(gateway.pid) ? 'unknown' : 'running';
    if (liveness === 'running') return gateway;
    if (liveness === 'gone') await removeOwn(nodeFiles, path, OWN.gateway);
  } catch {
    // It went in between, or is none.
  }
  return undefined;
}
