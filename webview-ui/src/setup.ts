/**
 * Must run first: the page's content security policy forbids evaluating code, which zod would try.
 */
import { config } from 'zod';

config({ jitless: true });
