#loc = loc("samples.py":226:0)
#loc5 = loc("samples.py":229:60)
#loc9 = loc("samples.py":219:0)
#loc14 = loc("i_ptr"(#loc))
#loc18 = loc("a"(#loc9))
#loc19 = loc("b"(#loc9))
module {
  tt.func public @mapped(%i_ptr: !tt.ptr<i32> loc("i_ptr"(#loc))) attributes {noinline = false} {
    %off = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32> loc(#loc15)
    %i = tt.splat %i_ptr : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>> loc(#loc16)
    %i_0 = tt.addptr %i, %off : tensor<64x!tt.ptr<i32>>, tensor<64xi32> loc(#loc16)
    %i_1 = tt.load %i_0 : tensor<64x!tt.ptr<i32>> loc(#loc17)
    %0 = tt.splat %i_ptr : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>> loc(#loc4)
    %1 = tt.addptr %0, %off : tensor<64x!tt.ptr<i32>>, tensor<64xi32> loc(#loc4)
    %2 = "tt.map_elementwise"(%i_1, %off) <{pack = 1 : i32}> ({
    ^bb0(%arg1: i32 loc("samples.py":229:60), %arg2: i32 loc("samples.py":229:60)):
      %3 = tt.call @__main__.compare_fn__i32_i32__(%arg1, %arg2) : (i32, i32) -> i32 loc(#loc6)
      tt.map_elementwise.return %3 : i32 loc(#loc5)
    }) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32> loc(#loc5)
    tt.store %1, %2 : tensor<64x!tt.ptr<i32>> loc(#loc7)
    tt.return loc(#loc8)
  } loc(#loc)
  tt.func private @__main__.compare_fn__i32_i32__(%a: i32 loc("a"(#loc9)), %b: i32 loc("b"(#loc9))) -> i32 attributes {noinline = false} {
    %0 = arith.cmpi slt, %a, %b : i32 loc(#loc10)
    cf.cond_br %0, ^bb1, ^bb2 loc(#loc10)
  ^bb1:  // pred: ^bb0
    %c-1_i32 = arith.constant -1 : i32 loc(#loc11)
    tt.return %c-1_i32 : i32 loc(#loc11)
  ^bb2:  // pred: ^bb0
    cf.br ^bb4 loc(#loc9)
  ^bb3:  // no predecessors
    cf.br ^bb4 loc(#loc9)
  ^bb4:  // 2 preds: ^bb2, ^bb3
    %c1_i32 = arith.constant 1 : i32 loc(#loc12)
    tt.return %c1_i32 : i32 loc(#loc12)
  ^bb5:  // no predecessors
    %1 = ub.poison : i32 loc(#loc13)
    tt.return %1 : i32 loc(#loc13)
  } loc(#loc9)
} loc(#loc)
#loc1 = loc("samples.py":227:23)
#loc2 = loc("samples.py":228:24)
#loc3 = loc("samples.py":228:16)
#loc4 = loc("samples.py":229:21)
#loc6 = loc(unknown)
#loc7 = loc("samples.py":229:26)
#loc8 = loc("samples.py":229:4)
#loc10 = loc("samples.py":220:11)
#loc11 = loc("samples.py":221:15)
#loc12 = loc("samples.py":222:11)
#loc13 = loc("samples.py":222:4)
#loc15 = loc("off"(#loc1))
#loc16 = loc("i"(#loc2))
#loc17 = loc("i"(#loc3))
