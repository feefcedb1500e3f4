/** Set up before each file of tests: they share the modules of a worker, and the double of VS Code with them. */
import { openNewWindow } from './vscode';

openNewWindow();
