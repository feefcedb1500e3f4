import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Header for the secret if others can see the agent's address, for example on a command line. */
export const SECRET_HEADER_NAME = 'x-context-condenser';

export const createSecret = (): string => randomBytes(24).toString('base64url');

export interface AdmittedRequest {
  readonly kind: 'admitted';
  readonly route: string;
  readonly rest: string;
}

/** `detail` says to the client why it was refused, without revealing the secret. */
export type Admission =
  | AdmittedRequest
  | { readonly kind: 'refused'; readonly status: 400 | 403 | 404; readonly detail: string };

export interface AccessKeys {
  readonly secret: string;
  /**
   * Routes by ticket. Other users can read a ticket on an agent's command line, but it only lets
   * them reach a vendor with their own key.
   */
  readonly tickets: ReadonlyMap<string, string>;
}

export function checkGatewayAccess(
  url: string,
  headers: IncomingHttpHeaders,
  { secret, tickets }: AccessKeys,
  port: number,
): Admission {
  // Rejects DNS rebinding: a rebound name sends its own name as host.
  if (headers.host !== `127.0.0.1:${port}` && headers.host !== `localhost:${port}`) {
    return { kind: 'refused', status: 403, detail: 'This address is for an agent on this machine.' };
  }
  // Only browsers send these headers.
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) {
    return { kind: 'refused', status: 403, detail: 'Web pages are not served.' };
  }
  if (!url.startsWith('/')) return { kind: 'refused', status: 400, detail: 'No proxy: ask for a path.' };
  const secretHeader = headers[SECRET_HEADER_NAME];
  const path = typeof secretHeader === 'string' ? `/${secretHeader}${url}` : url;
  const [, sentSecret = '', route = ''] = /^\/([^/?#]*)\/([^/?#]+)/.exec(path) ?? [];
  const isAdmitted =
    isSameSecret(sentSecret, secret) ||
    [...tickets].some(([ticket, to]) => to === route && isSameSecret(sentSecret, ticket));
  if (!isAdmitted) return { kind: 'refused', status: 404, detail: 'Not found.' };
  return { kind: 'admitted', route, rest: path.slice(`/${sentSecret}/${route}`.length) };
}

const isSameSecret = (a: string, b: string): boolean => timingSafeEqual(hashSecret(a), hashSecret(b));
const hashSecret = (text: string): Buffer => createHash('sha256').update(text).digest();
