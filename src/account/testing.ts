/**
 * Creates a Claude Code session that reads the same file in each turn.
 * @param step tokens by which each request grows
 * @param name the session's ID; requests of sessions with the same ID count as copies
 */
export const makeReadingSession = (
  first: number,
  step: number,
  at: (record: number) => Date = (record) => new Date(Date.UTC(2026, 1, 1, 12, 0, record)),
  name = 's',
): string => {
  const text = Array.from({ length: 400 }, (_, line) => `${line + 1}\tconst value${line} = ${line};`).join('\n');
  const records: object[] = [];
  const addRecord = (type: 'user' | 'assistant', message: object): void => {
    const index = records.length;
    records.push({
      ...{ type, uuid: `u${index}`, parentUuid: index === 0 ? null : `u${index - 1}`, sessionId: name, cwd: '/p' },
      timestamp: at(index).toISOString(),
      message,
    });
  };
  addRecord('user', { role: 'user', content: 'Read it.' });
  for (let turn = 0; turn < 8; turn++) {
    addRecord('assistant', {
      ...{ id: `${name}-m${turn}`, role: 'assistant', model: 'claude-opus-4-1' },
      content: [{ type: 'tool_use', id: `t${turn}`, name: 'Read', input: { file_path: '/p/a.ts' } }],
      usage: {
        input_tokens: 10,
        output_tokens: 100,
        cache_read_input_tokens: turn === 0 ? 0 : first + step * (turn - 1),
        cache_creation_input_tokens: turn === 0 ? first : step,
      },
    });
    addRecord('user', { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${turn}`, content: text }] });
  }
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
};
