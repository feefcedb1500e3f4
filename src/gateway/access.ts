/** Who may use the gateway: the agent that was told its address, and nobody else on this machine. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A header that carries the secret where an address would be seen by others, as on a command line. */
export const SECRET_HEADER = 'x-context-condenser';

/** A secret for one run of the gateway, fit for an address. */
export const newSecret = (): string => randomBytes(24).toString('base64url');

/** The request's purpose, once admitted. */
export interface Admitted {
  readonly kind: 'admitted';
  /** The first part of the path behind the secret: which upstream. */
  readonly route: string;
  /** The rest of the address: path and query, with its leading slash. */
  readonly rest: string;
}

/** `detail` is for the one who asked, and tells nothing of the secret. */
export type Admission =
  | Admitted
  | { readonly kind: 'refused'; readonly status: 400 | 403 | 404; readonly detail: string };

/** The secrets that open the gateway. */
export interface Keys {
  /** All of it. */
  readonly secret: string;
  /**
   * One route each, by what opens it. For an agent that takes its address only on its command line, which other users of the
   * machine can read: with it they get to a vendor with their own key, and to nothing of this run.
   */
  readonly tickets: ReadonlyMap<string, string>;
}

/** @param port that the server listens on. */
export function admit(url: string, headers: IncomingHttpHeaders, { secret, tickets }: Keys, port: number): Admission {
  // A name that was rebound to this machine comes with its own name; an agent was told the number.
  if (headers.host !== `127.0.0.1:${port}` && headers.host !== `localhost:${port}`) {
    return { kind: 'refused', status: 403, detail: 'This address is for an agent on this machine.' };
  }
  // Only browsers send these; no page has any business here.
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) {
    return { kind: 'refused', status: 403, detail: 'Web pages are not served.' };
  }
  if (!url.startsWith('/')) return { kind: 'refused', status: 400, detail: 'No proxy: ask for a path.' };
  const given = headers[SECRET_HEADER];
  const path = typeof given === 'string' ? `/${given}${url}` : url;
  const [, sent = '', route = ''] = /^\/([^/?#]*)\/([^/?#]+)/.exec(path) ?? [];
  const isOpen = isSame(sent, secret) || [...tickets].some(([ticket, to]) => to === route && isSame(sent, ticket));
  if (!isOpen) return { kind: 'refused', status: 404, detail: 'Not found.' };
  return { kind: 'admitted', route, rest: path.slice(`/${sent}/${route}`.length) };
}

/** Takes the same time whatever is wrong. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
