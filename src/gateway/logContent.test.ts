/**
 * The gateway's log must not contain content. A vendor's rejection may quote all of it, and the
 * key.
 */
import fc from 'fast-check';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { describeRefusalForLog } from '../api/refusalKind';
import { getErrorKind } from '../core/errors';
import { UNCHANGED_HTTP_CALL, type GatewayCondenser } from './condenser';
import { startGateway } from './server';

const CANARY = 'canary-98765';
/** Vendors' rejections, in which `X` marks the places that quote content. */
const REFUSALS = [
  '{"detail":[{"type":"string_type","loc":["body","messages",1],"msg":"Input should be X","input":"X"}]}',
  '{"error":{"message":"Invalid value: X","type":"invalid_request_error","param":"X","code":"X"}}',
  '{"error":{"message":"Received API Key = X","type":"X","code":"400"}}',
  '{"type":"error","error":{"type":"X","message":"X"}}',
  '[{"error":{"code":400,"message":"X","status":"X"}}]',
  '{"error":"X"}',
  '{"X":{"X":"X"}}',
  '{"error":{"message":"no","metadata":{"raw":"X","provider_name":"X"}}}',
  'X',
  '{"error":{"type":["X"],"code":{"X":1}}}',
];

it("the gateway's log describes a rejection only with words from a fixed vocabulary", () => {
  fc.assert(
    fc.property(fc.constantFrom(...REFUSALS), fc.constantFrom(400, 413, 422), (form, status) => {
      expect(describeRefusalForLog(form.replaceAll('X', CANARY), status)).not.toContain(CANARY);
    }),
  );
  expect(describeRefusalForLog(REFUSALS[1]!, 400)).toBe('status 400, invalid_request_error');
  expect(describeRefusalForLog('{"error":{"code":400,"status":"INVALID_ARGUMENT"}}', 400)).toBe(
    'status 400, INVALID_ARGUMENT',
  );
  expect(describeRefusalForLog(CANARY)).toBe('for a reason that is not known');
});

it("the gateway's log names an error that quotes its input only by the error's class", () => {
  const thrown = (action: () => unknown): unknown => {
    try {
      return action();
    } catch (error) {
      return error;
    }
  };
  const errors = [
    thrown(() => JSON.parse(CANARY)),
    thrown(() => Object.assign(CANARY as unknown as object, { 0: 1 })),
    thrown(() => decodeURIComponent(`%${CANARY}`)),
    CANARY,
  ];
  for (const error of errors) expect(getErrorKind(error)).not.toContain(CANARY);
  expect(getErrorKind(new Error('our own words'))).toBe('our own words');
  expect(getErrorKind(Object.assign(new Error('x'), { code: 'ECONNRESET' }))).toBe('ECONNRESET');
});

it.each(REFUSALS)('no event of the gateway contains what the vendor quotes or the agent sent: %s', async (form) => {
  const vendor = http.createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(400, { 'content-type': 'application/json', 'x-note': CANARY });
      response.end(form.replaceAll('X', CANARY));
    });
  });
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  const events: unknown[] = [];
  let isFirst = true;
  const condenser: GatewayCondenser = {
    prepare: () => {
      if (isFirst) JSON.parse(CANARY);
      return Promise.resolve({
        ...UNCHANGED_HTTP_CALL,
        bytes: Buffer.from('{}'),
      });
    },
  };
  const gateway = await startGateway({
    routes: new Map([['a', new URL(`http://127.0.0.1:${(vendor.address() as AddressInfo).port}`)]]),
    condenser,
    report: (event) => events.push(event),
    ownRoutes: new Map([['own', () => Promise.resolve({})]]),
  });
  onTestFinished(async () => {
    await gateway.close();
    vendor.closeAllConnections();
    vendor.close();
  });
  const body = JSON.stringify({ model: CANARY, messages: [{ role: 'user', content: CANARY }] });
  for (const [path, text] of [
    ['a/v1/messages', body],
    ['a/v1/messages', body],
    ['a/v1/other', body],
    ['own', `{${CANARY}`],
  ] as const) {
    const url = gateway.url(path);
    await (await fetch(url, { method: 'POST', body: text, headers: { 'x-api-key': CANARY } })).text();
    isFirst = false;
  }
  expect(events).not.toEqual([]);
  expect(JSON.stringify(events)).not.toContain(CANARY);
});
