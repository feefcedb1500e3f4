import { expect, it } from 'vitest';
import { renderHtml } from './html';

it('HTML values are escaped once', () => {
  const inner = renderHtml`<b title="${'"a" & \'b\''}">${'<script>'}</b>`;
  expect(inner.text).toBe('<b title="&quot;a&quot; &amp; &#39;b&#39;">&lt;script&gt;</b>');
  expect(renderHtml`<p>${inner}${[inner, inner]}${3}</p>`.text).toBe(`<p>${inner.text.repeat(3)}3</p>`);
});

it('HTML contains no control characters or lone surrogates', () => {
  expect(renderHtml`${'a\r'}${'\nb\rc\r\n'}`.text).toBe('a\nb\nc\n');
  expect(renderHtml`${'a\r\nb\tc\u001b[31m\u0000\ud800'}`.text).toBe('a\nb\tc\ufffd[31m\ufffd\ufffd');
});
