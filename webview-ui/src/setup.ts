/** Comes before everything else: the page's content security policy lets nothing evaluate code, and zod would try to. */
import { config } from 'zod';

config({ jitless: true });
