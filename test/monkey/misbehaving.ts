/**
 * A model that works like an agent's and fails like a vendor's. What it does is random, from a
 * seed.
 */
import { RECALL_TOOL_NAME } from '../../src/agent/names';
import type { Random } from '../generators/random';
import type { Workspace } from '../generators/workspace';
import {
  callsTool,
  cutAtMaxTokens,
  emptyReply,
  makeFaultyReply,
  neverAnswer,
  makeOverloadedError,
  makeRateLimitError,
  refusal,
  reply,
  reset,
  makeServerError,
  type Behaviour,
  type Fault,
  type ScriptedCall,
} from '../servers/behaviour';
import { objects } from '../servers/json';
import type { RecordedRequest } from '../servers/modelServer';
import { findMarkers } from '../../src/core/messages/markers';
import { makeTestMarker } from '../../src/core/testing';

/** Share of requests that fail. */
const FAULTS = 0.12;
/** Share of answers that end a turn. */
const ENDS = 0.12;
const STREAM_FAULTS: readonly Fault['kind'][] = ['cut', 'no-end', 'malformed', 'error'];
export class MisbehavingModel {
  /** While this is true, requests are not answered. */
  isSilent = false;
  private answered = 0;
  private called = 0;

  constructor(
    private readonly random: Random,
    private readonly workspace: Workspace,
  ) {}

  /** Answers a request, as the script of a server. */
  readonly answer = (request: RecordedRequest): Behaviour => {
    if (this.isSilent) return neverAnswer();
    if (this.random.chance(FAULTS)) return this.fault();
    // Only requests for summaries have no tools.
    if (objects(request.body['tools']).length === 0) return this.summary();
    if (this.random.chance(ENDS)) return reply(`That is done (${++this.answered}).`);
    // The IDs are our own, because the server's depend on the request's number, and requests are
    // discarded.
    const calls = Array.from({ length: this.random.between(1, 3) }, () => ({
      ...this.call(request),
      id: `toolu_m${++this.called}`,
    }));
    return { ...callsTool(...calls), text: this.random.chance(0.5) ? 'I go on.' : '' };
  };

  private fault(): Behaviour {
    switch (this.random.int(9)) {
      case 0:
        return makeOverloadedError();
      case 1:
        return makeServerError();
      case 2:
        return makeRateLimitError(0);
      case 3:
        return reset();
      case 4:
        return emptyReply();
      case 5:
        return refusal();
      case 6:
        return cutAtMaxTokens('half an answer');
      default:
        return makeFaultyReply(this.random.pick(STREAM_FAULTS), this.random.int(3));
    }
  }

  private summary(): Behaviour {
    const words = 'The user wants the project in order; the files were read and partly changed. ';
    return reply(`## Goal\n${words.repeat(this.random.between(1, 40))}`);
  }

  private call({ body }: RecordedRequest): ScriptedCall {
    const { random, workspace } = this;
    const path = random.pick(workspace.paths);
    const filePath = workspace.absolute(path);
    const sentText = JSON.stringify(body['messages']);
    const markers = findMarkers(sentText);
    switch (random.weighted({ read: 8, search: 2, edit: 3, create: 1, list: 1, recall: 2, marker: 1, unknown: 0.3 })) {
      case 'read': {
        const startLine = random.between(1, 500);
        return { name: 'read_file', input: { filePath, startLine, endLine: startLine + random.between(20, 400) } };
      }
      case 'search':
        return { name: 'grep_search', input: { query: 'return', maxResults: random.between(1, 60) } };
      case 'edit': {
        const line = random.pick(workspace.lines(path));
        const newString = `${line} // changed ${random.int(1_000)}`;
        return { name: 'replace_string_in_file', input: { filePath, oldString: line, newString } };
      }
      case 'create':
        return {
          name: 'create_file',
          input: { filePath: workspace.absolute(`new-${random.int(30)}.ts`), content: workspace.text(path) },
        };
      case 'list':
        return { name: 'list_dir', input: { path: workspace.root } };
      case 'recall': {
        const reference = markers.length > 0 && random.chance(0.8) ? random.pick(markers).reference : undefined;
        return {
          name: RECALL_TOOL_NAME,
          input: reference === undefined ? { words: 'return value' } : { references: [reference], maxTokens: 2_000 },
        };
      }
      case 'marker': {
        const copiedMarker = markers.length > 0 ? random.pick(markers) : undefined;
        const content = copiedMarker
          ? sentText.slice(copiedMarker.start, copiedMarker.end)
          : makeTestMarker('nothing', '000000');
        return { name: 'create_file', input: { filePath: workspace.absolute(`copied-${random.int(9)}.md`), content } };
      }
      case 'unknown':
        return { name: 'no_such_tool', input: { value: random.int(9) } };
    }
  }
}
