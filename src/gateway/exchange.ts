import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { filterHeaders } from './headers';
import type { UpstreamHttpAgents } from './upstreamAgents';

export class HttpExchange {
  constructor(
    private readonly request: http.IncomingMessage,
    private readonly response: http.ServerResponse,
    private readonly address: URL,
    private readonly agents: UpstreamHttpAgents,
    private readonly signal: AbortSignal,
  ) {}

  /** @throws the connection's error */
  sendUpstream(body: Buffer): Promise<http.IncomingMessage> {
    const headers = filterHeaders(this.request, ['host', 'content-length']);
    const upstreamRequest = this.openUpstreamRequest([...headers, 'Content-Length', String(body.length)]);
    const answer = waitForAnswer(upstreamRequest);
    upstreamRequest.end(body);
    return answer;
  }

  async streamUpstream(maxBytes: number): Promise<void> {
    const upstreamRequest = this.openUpstreamRequest(filterHeaders(this.request, ['host', 'expect']));
    const answer = waitForAnswer(upstreamRequest);
    let receivedBytes = 0;
    this.request.on('data', (chunk: Buffer) => {
      receivedBytes += chunk.length;
      if (receivedBytes > maxBytes) upstreamRequest.destroy(new Error(`A request may have ${maxBytes} bytes.`));
    });
    this.request.on('error', () => {
      upstreamRequest.destroy();
    });
    this.request.pipe(upstreamRequest);
    await this.passAnswerToAgent(await answer);
  }

  /** @throws Error if the answer breaks off, after closing the agent's connection */
  async passAnswerToAgent(answer: http.IncomingMessage, observeChunk?: (chunk: Buffer) => void): Promise<void> {
    const { response } = this;
    this.beginResponse(answer);
    response.flushHeaders();
    await new Promise<void>((resolve, reject) => {
      answer.on('data', (chunk: Buffer) => {
        if (!response.write(chunk)) answer.pause();
        observeChunk?.(chunk);
      });
      response.on('drain', () => {
        answer.resume();
      });
      answer.on('end', () => {
        if (answer.complete) response.end(resolve);
        else reject(new Error('The connection to the vendor was lost.'));
      });
      answer.on('error', reject);
      answer.on('close', () => {
        if (!answer.complete) reject(new Error('The connection to the vendor was lost.'));
      });
      response.on('close', () => {
        answer.destroy();
        resolve();
      });
    });
  }

  passReadAnswerToAgent(answer: http.IncomingMessage, bytes: Buffer): void {
    this.beginResponse(answer, ['content-length']);
    this.response.end(bytes);
  }

  private beginResponse(answer: http.IncomingMessage, omittedNames: readonly string[] = []): void {
    const { response } = this;
    response.sendDate = false;
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', filterHeaders(answer, omittedNames));
  }

  private openUpstreamRequest(headers: string[]): http.ClientRequest {
    const { address, request, signal } = this;
    const isSecure = address.protocol === 'https:';
    return (isSecure ? https : http).request(address, {
      method: request.method ?? 'GET',
      agent: this.agents[isSecure ? 'https:' : 'http:'],
      // Node's types allow the flat list only for responses.
      headers: ['Host', address.host, ...headers],
      signal,
    });
  }
}

function waitForAnswer(outgoing: http.ClientRequest): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.once('response', resolve);
    // Without this handler, an unrequested upgrade would leave the promise pending forever.
    outgoing.once('upgrade', (_answer, socket: Socket) => {
      socket.destroy();
      reject(new Error('The vendor switched to another protocol, which was not requested.'));
    });
    outgoing.once('close', () => {
      reject(new Error('The vendor closed the connection without an answer.'));
    });
  });
}
