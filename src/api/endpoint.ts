import { ApiError } from './apiError';

export interface EndpointOptions {
  readonly baseUrl?: string;
  /**
   * Whether HTTP to other machines is allowed, which exposes keys and conversations. Default false.
   */
  readonly allowInsecureHttp?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

export const isLoopback = (baseUrl: string): boolean =>
  URL.canParse(baseUrl) && LOOPBACK_HOST.test(new URL(baseUrl).hostname);

/**
 * Requires https, or http on this machine.
 * @throws {ApiError} kind `endpoint`
 */
export function checkEndpoint(name: string, baseUrl: string, allowInsecureHttp = false): URL {
  const createRefusal = (sentence: string): ApiError => new ApiError('endpoint', { name, sentence });
  if (!URL.canParse(baseUrl)) throw createRefusal('The base URL is not a URL.');
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw createRefusal(`The base URL starts with ${url.protocol} but needs https:.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw createRefusal('The base URL contains a user name or password; put them into the model’s key.');
  }
  if (url.protocol === 'http:' && !LOOPBACK_HOST.test(url.hostname) && !allowInsecureHttp) {
    throw createRefusal(
      `The base URL ${url.origin} is not encrypted: the key and the conversation could be read on the way. Use https, or allow it for this model (“Allow unencrypted HTTP”, allowInsecureHttp).`,
    );
  }
  return url;
}
