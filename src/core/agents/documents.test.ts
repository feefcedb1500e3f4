/** Compares the tables in the documents with the table of agents. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AGENT_LIST } from '.';
import { renderAgentsTable } from './documents';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');
const formats = read('docs/formats.md');
const readme = read('README.md');
const gateway = read('docs/guide/gateway.md');

// If this fails, run `npm run manifest`.
it('the README contains the generated table of agents', () => {
  expect(readme).toContain(`<!-- made by npm run manifest -->\n${renderAgentsTable()}\n<!-- end -->`);
});

it("the page on formats names the environment variables that change a store's location", () => {
  const roots = AGENT_LIST.flatMap(({ stores }) => stores.map(({ root }) => root));
  const names = new Set(roots.flatMap((root) => [...root.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name)));
  expect([...names].filter((name) => !formats.includes(`$${name}`))).toEqual([]);
});

it.each(AGENT_LIST.filter((agent) => agent.formats.length > 0))(
  'the user documents mention the agent $name',
  ({ name, seen }) => {
    const word = name.replace(' Code', '').replace(' CLI', '');
    expect(formats).toContain(word);
    if (seen?.on === 'real sessions' && name !== 'Cline') expect(formats).toContain(`real sessions: ${seen.versions}`);
  },
);

it('the empty list of conversations names the agents whose stores are searched', () => {
  const { 'conversations.none': words = '' } = JSON.parse(read('package.nls.json')) as Record<string, string>;
  const searched = AGENT_LIST.filter(({ stores }) => stores.length > 0).map(({ name }) => name);
  const [, named = ''] = /looks in the session folders of (.*?)\. It/.exec(words) ?? [];
  expect(named.split(/, | and /).toSorted()).toEqual(searched.toSorted());
});

it('the walkthrough names the agents that run in a terminal', () => {
  const { 'walkthrough.agents.description': words = '' } = JSON.parse(read('package.nls.json')) as Record<
    string,
    string
  >;
  const run = AGENT_LIST.filter(({ live }) => live.through === 'gateway').map(({ name }) => name);
  const [named = ''] = words.split(' run in ');
  expect(named.split(/, | and /).toSorted()).toEqual(run.toSorted());
});

it.each(AGENT_LIST.flatMap(({ name, live }) => (live.through === 'gateway' ? [{ name, command: live.command }] : [])))(
  'the guide to the gateway mentions the agent $name',
  ({ command }) => {
    expect(gateway).toContain(`\`${command}\``);
  },
);
