import torch,sys,time
torch.ops.load_library(sys.argv[1]); torch.set_num_threads(1)
o=torch.ops.geosft; g=torch.Generator().manual_seed(0)
R=lambda *s:torch.randn(*s,generator=g).requires_grad_()
n,k,H,c=1024,256,4,16
a=(R(n,H,c),R(k,H,c),R(k,H,c),R(k,H)); y=o.maxout_attention(*a); w=torch.randn(y.shape,generator=g)
ts=[]
for _ in range(int(sys.argv[2])):
    t=time.perf_counter(); torch.autograd.grad((o.maxout_attention(*a)*w).sum(),a); ts.append(time.perf_counter()-t)
ts.sort(); print(f"min {ts[0]*1e3:.2f} median {ts[len(ts)//2]*1e3:.2f}")
