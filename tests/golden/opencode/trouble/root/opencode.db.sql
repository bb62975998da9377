CREATE TABLE account (id text primary key, access_token text not null);
CREATE TABLE message (
  id text primary key, session_id text not null, time_created integer not null, time_updated integer not null,
  data text not null);
INSERT INTO "message" VALUES('msg_c1c38a7e800100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000001000,1770000001000,'{"role": "user", "time": {"created": 1770000001000}, "agent": "build"}');
INSERT INTO "message" VALUES('msg_c1c38abd000100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000002000,1770000002000,'{"role": "assistant", "time": {"created": 1770000002000, "completed": 1770000003000}, "modelID": "claude-sonnet-4-5", "providerID": "anthropic", "mode": "build", "path": "nowhere", "cost": 0.01, "tokens": {"input": 3, "output": 3, "reasoning": "many", "cache": {"read": 0, "write": 0}}, "finish": "stop", "error": "lost", "parentID": "msg_c1c38a7e800100000000000001"}');
INSERT INTO "message" VALUES('msg_c1c38b78800100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000005000,1770000005000,'{"role": "user", "time": {"created": 1770000005000}, "agent": "build"}');
INSERT INTO "message" VALUES('msg_c1c38bb7000100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000006000,1770000006000,'{"role": "assistant", "time": {"created": 1770000006000, "completed": 1770000007000}, "modelID": "claude-sonnet-4-5", "providerID": "anthropic", "mode": "build", "path": {"cwd": "/home/ada/garden", "root": "/home/ada/garden"}, "cost": "free", "tokens": "none", "finish": "stop", "parentID": "msg_c1c38b78800100000000000001"}');
INSERT INTO "message" VALUES('msg_broken','ses_3e3c75bffffeAdaShop0000000',1770000008000,1770000008000,'{"role":"assistant"');
INSERT INTO "message" VALUES('msg_other','ses_3e3c75bffffeAdaShop0000000',1770000009000,1770000009000,'{"role":"narrator","time":{"created":1770000009000}}');
INSERT INTO "message" VALUES('msg_orphan','ses_gone',1770000009000,1770000009000,'{"role":"user","time":{"created":1770000009000}}');
CREATE TABLE part (
  id text primary key, message_id text not null, session_id text not null, time_created integer not null,
  time_updated integer not null, data text not null);
INSERT INTO "part" VALUES('prt_c1c38a7e800100000000000001','msg_c1c38a7e800100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000001000,1770000001000,'{"type": "text", "text": "still readable"}');
INSERT INTO "part" VALUES('prt_c1c38abd000100000000000001','msg_c1c38abd000100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000002000,1770000002000,'{"type": "text", "text": "Yes."}');
INSERT INTO "part" VALUES('prt_c1c38abd000200000000000002','msg_c1c38abd000100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000002000,1770000002000,'{"type": "hologram", "data": 1}');
INSERT INTO "part" VALUES('prt_c1c38abd000300000000000003','msg_c1c38abd000100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000002000,1770000002000,'{"type": "hologram"}');
INSERT INTO "part" VALUES('prt_c1c38b78800100000000000001','msg_c1c38b78800100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000005000,1770000005000,'{"type": "text", "text": "and here?"}');
INSERT INTO "part" VALUES('prt_c1c38bb7000100000000000001','msg_c1c38bb7000100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000006000,1770000006000,'{"type": "tool", "callID": 7, "tool": ["bash"], "state": "gone"}');
INSERT INTO "part" VALUES('prt_c1c38bb7000200000000000002','msg_c1c38bb7000100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000006000,1770000006000,'{"type": "tool", "callID": "call_x", "tool": "bash", "state": {"status": "completed", "input": "ls", "output": {"no": "text"}, "time": "now", "metadata": []}}');
INSERT INTO "part" VALUES('prt_broken','msg_c1c38a7e800100000000000001','ses_3e3c75bffffeAdaShop0000000',1770000001000,1770000001000,'[]');
CREATE TABLE session (
  id text primary key, project_id text not null, parent_id text, slug text not null, directory text not null,
  title text not null, version text not null, share_url text, summary_additions integer, summary_deletions integer,
  summary_files integer, summary_diffs text, revert text, permission text, time_created integer not null,
  time_updated integer not null, time_compacting integer, time_archived integer);
INSERT INTO "session" VALUES('ses_3e3c75bffffeAdaShop0000000','9f1c2e',NULL,'quiet-meadow','/home/ada/shop','Trouble','1.2.0',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1770000000000,1770000060000,NULL,NULL);
CREATE INDEX part_session_idx on part (session_id);
