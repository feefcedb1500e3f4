/**
 * A gateway tells the windows of its user that it runs: a file that only they can read, in a folder that they agreed on, with the
 * address of its live conversations. It goes with the gateway; of one that was killed it is cleared by whoever looks next.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { isGone } from '../storage/holds';

const announcement = z.object({
  pid: z.number().int().positive(),
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
export type Announcement = z.infer<typeof announcement>;

/** An address of a gateway as a screen shows it: the secret is for the clipboard. */
export const withoutSecret = (address: string): string => address.replace(/^(http:\/\/[^/]+\/)[^/]+/, '$1…');

/** @returns takes it back. */
export async function announce(folder: string, gateway: Announcement): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${gateway.pid}.json`);
  // Whole or not at all, for whoever watches the folder.
  await writeFile(`${path}.new`, JSON.stringify(gateway), { mode: 0o600 });
  await rename(`${path}.new`, path);
  return () => rm(path, { force: true });
}

/** The gateways that run. Files of those that don't are cleared. */
export async function announced(folder: string): Promise<Announcement[]> {
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(names.filter((name) => /^\d+\.json$/.test(name)).map((name) => read(folder, name)));
  return found.filter((one) => one !== undefined);
}

async function read(folder: string, name: string): Promise<Announcement | undefined> {
  const path = join(folder, name);
  try {
    const gateway = announcement.parse(JSON.parse(await readFile(path, 'utf8')));
    if (!isGone(gateway.pid)) return gateway;
    await rm(path, { force: true });
  } catch {
    // It went in between, or is none.
  }
  return undefined;
}
