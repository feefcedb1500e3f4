import { describe, expect, it } from 'vitest';
import { exportTo, user, assistant, text, call, result, messages } from './testing';

describe('the Markdown export', () => {
  it('contains everything that was said', () => {
    const {
      text: output,
      notes,
      extension,
    } = exportTo({ title: 'Fix *it* <now>', messages, request: { system: 'Be careful.' } }, 'markdown');
    expect(extension).toBe('md');
    expect(output).toMatch(/^# Fix \\\*it\\\* &lt;now\\>\n/);
    expect(output).toContain('<summary>System prompt</summary>');
    expect(output).toContain('## 2 · Assistant');
    expect(output).toContain('<summary>Thinking</summary>\n\n```\nhm\n```');
    expect(output).toContain('**Read**\n\n```json\n{\n  "path": "a"\n}\n```');
    expect(output).toContain('<summary>Result of Read, 2 lines</summary>');
    expect(output).toContain('*[image/png, 1 KB]*');
    expect(notes).toEqual(['2 images: named, not shown.']);
  });

  it('uses fences that no text inside can close', () => {
    const { text: output } = exportTo(
      { messages: [user(text('x')), assistant(call('c', { content: 'a\n````\nb', n: 1 }))] },
      'markdown',
    );
    expect(output).toContain('content:\n\n`````\na\n````\nb\n`````');
  });

  it('names unknown and encrypted blocks', () => {
    const { text: output, notes } = exportTo(
      {
        messages: [
          { role: 'user', content: 'sum', isSummary: true },
          assistant({ type: 'redacted_thinking', data: 'x' }, { type: 'later', value: 1 }, call('c', 'text')),
          user(
            result('c', undefined, { is_error: true }),
            { type: 'image', source: { type: 'url', url: 'https://x/a.png' } },
            { type: 'image', source: { type: 'file', file_id: 'f' } },
            { type: 'image', source: 7 },
          ),
        ],
      },
      'markdown',
    );
    expect(output).toContain('## 1 · User, summary');
    expect(output).toContain('<summary>later</summary>');
    expect(output).toContain('```json\n"text"\n```');
    expect(output).toContain('<summary>Error of Read, 0 lines</summary>');
    expect(output).toContain('![image](https://x/a.png)');
    expect(notes).toEqual(['1 thought: left out (encrypted).', '2 images: named, not shown.']);
  });
});
