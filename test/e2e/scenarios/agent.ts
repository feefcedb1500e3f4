import assert from 'node:assert/strict';
import { join } from 'node:path';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { callsTool, reply } from '../../servers/behaviour';
import type { RecordedRequest } from '../../servers/modelServer';
import type { Scenario } from '../bed';
import { answerText, ask, openChat, screenshot, setTheme } from '../workbench/index';
import { openCondensedModel, PROFILE_NAME } from '../condensedModel';

const isStep = ({ body }: RecordedRequest): boolean => Array.isArray(body['tools']);

export const answersWithTools: Scenario = async (bed) => {
  const folder = bed.folder({ 'hello.txt': 'hello from the file\n' });
  let steps = 0;
  const server = await startAnthropicServer({
    script: (request) => {
      if (!isStep(request)) return reply('A title');
      steps++;
      if (steps === 1) return callsTool({ name: 'read_file', input: { filePath: join(folder, 'hello.txt'), startLine: 1, endLine: 2 } });
      return reply(['The file ', 'says hello.']);
    },
  });
  try {
    const bench = await openCondensedModel(bed, server, { folder });
    await openChat(bench, PROFILE_NAME);
    await ask(bench, 'What does hello.txt say?');
    assert.match(await answerText(bench, (text) => text.includes('hello')), /The file says hello\./);
    await screenshot(bench, 'agent-answer-dark');
    await setTheme(bench, 'light');
    await screenshot(bench, 'agent-answer-light');
    const agent = server.requests.filter(isStep);
    assert.equal(agent.length, 2);
    assert.deepEqual(server.requests.map(({ status }) => status).filter((status) => status !== 200), []);
    assert.match(JSON.stringify(agent[1]?.body), /hello from the file/);
  } finally {
    await server.close();
  }
};
