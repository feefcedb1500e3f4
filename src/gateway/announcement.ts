/**
 * A file that only the user can read announces a gateway to the user's windows. The gateway removes
 * it, or the next reader if the gateway was killed.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { hashText } from '../core/hash';
import { nodeFiles } from '../storage/nodeFiles';
import { isProcessGone, getOwnerLiveness, parseOwner, formatOwner, getThisProcess } from '../storage/owner';
import { OWN_FILE_KINDS, removeOwnFile, replaceOwnFile, inspectOwnPath } from '../storage/ownFiles';
import { claimOwnFolder } from '../storage/ownFolder';

const announcementSchema = z.object({
  pid: z.number().int().positive(),
  /** Process that runs the gateway, with its host; absent in version 1.0. */
  owner: z.string().optional(),
  /** URL of the gateway, including the secret. */
  address: z.url({ protocol: /^http$/, hostname: /^127\.0\.0\.1$/ }),
  /** Name of the gateway's agent; absent if any agent may use the gateway. */
  agent: z.string().optional(),
  folder: z.string(),
  /** The URL for each route; absent if the gateway serves only its own agent. */
  addresses: z.record(z.string(), z.url({ protocol: /^http$/, hostname: /^127\.0\.0\.1$/ })).optional(),
});

export type GatewayAnnouncement = Omit<z.infer<typeof announcementSchema>, 'owner'>;

/** Makes an address for display. The secret is only ever copied to the clipboard. */
export const hideSecretInAddress = (address: string): string => address.replace(/^(http:\/\/[^/]+\/)[^/]+/, '$1…');

export const isGatewayAddress = (address: string): boolean =>
  /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{20,}\/\w+$/.test(address);

/**
 * @returns a function that removes the announcement
 * @throws StorageError `not-ours` if the folder belongs to another program
 */
export async function announceGateway(folder: string, gateway: GatewayAnnouncement): Promise<() => Promise<void>> {
  await claimOwnFolder(nodeFiles, folder, 'Nothing was started.');
  const owner = formatOwner(getThisProcess());
  // The hash of the owner is needed because processes in two containers may have the same PID.
  const path = join(folder, `${gateway.pid}-${hashText(owner).slice(0, 8)}.json`);
  const { pid, ...otherFields } = gateway;
  await replaceOwnFile(
    nodeFiles,
    path,
    JSON.stringify({ contextCondenser: 'gateway', pid, owner, ...otherFields }),
    OWN_FILE_KINDS.gateway,
  );
  return () => removeOwnFile(nodeFiles, path, OWN_FILE_KINDS.gateway);
}

/** Also removes the announcements of gateways that no longer run. */
export async function listAnnouncements(folder: string): Promise<GatewayAnnouncement[]> {
  const names = await readdir(folder).catch(() => []);
  const announcements = await Promise.all(
    names
      .filter((name) => /^\d+(?:-[0-9a-f]{8})?\.json$/.test(name))
      .map((name) => readAnnouncement(join(folder, name))),
  );
  return announcements.filter((one) => one !== undefined);
}

async function readAnnouncement(path: string): Promise<GatewayAnnouncement | undefined> {
  try {
    if ((await inspectOwnPath(nodeFiles, path, OWN_FILE_KINDS.gateway)) !== 'ours') return undefined;
    const { owner: word = '', ...gateway } = announcementSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    const owner = parseOwner(word);
    const liveness = owner ? getOwnerLiveness(owner) : isProcessGone(gateway.pid) ? 'unknown' : 'running';
    if (liveness === 'running') return gateway;
    if (liveness === 'gone') await removeOwnFile(nodeFiles, path, OWN_FILE_KINDS.gateway);
  } catch {
    // The file was removed meanwhile, or is not an announcement.
  }
  return undefined;
}
